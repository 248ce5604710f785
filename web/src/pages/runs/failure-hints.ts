/** What to do about a step's failure, by the code of its error. */
const hints: Record<string, string> = {
  bad_config: 'Correct the configuration of this step in the editor, then run again.',
  unknown_name:
    'A template or expression names something that is not there. Correct it in the editor; the step’s input below shows what was there.',
  not_boolean: 'Make the condition give true or false, for example by a comparison.',
  not_a_list: 'Give the loop a list, for example {{input.items}}.',
  timeout: 'It took longer than it may. Raise timeoutMs of the step, or look why the other side is slow.',
  http_status:
    'The other side refused. The message says with what; look at the request, or allow the status in expectStatus.',
  connect_failed: 'The other side could not be reached. Check the address, and retry when it is up.',
  address_refused:
    'The server does not go to that address or port. A private address that is wanted can be allowed with --allow-net.',
  host_not_allowed: 'The connection allows only certain hosts. Add this one to the connection, or correct the address.',
  tls_failed: 'The certificate of the other side was not accepted.',
  too_many_redirects: 'The address leads in circles. Correct it.',
  too_large: 'Something was larger than allowed. Hand on less, for example by a transform step before.',
  connection_unavailable:
    'The connection cannot be used: it is gone, or not yours to use. Choose another in the editor.',
  needs_grant: 'Somebody else wrote this version. Grant it to let it use what is yours.',
  secret_denied: 'Whoever the run acts for may not use this secret. Let somebody run it who can manage the blueprint.',
  token_failed: 'The sign-in of the connection has ended or was refused. Sign in anew at the connection.',
  login_failed: 'The mail server refused the login. Check the connection.',
  rejected: 'It was rejected. Nothing went wrong with the step itself.',
  recipients_rejected: 'The mail server does not take all of the recipients. Check their addresses.',
  outcome_unknown: 'It may or may not have happened. Look at the other side before you retry.',
  expired: 'Nobody answered in time. Retry from this step to ask again.',
  budget_exceeded:
    'The run may not use more tokens or calls. Raise the budget of the blueprint, then retry from this step.',
  schema_mismatch: 'The answer did not fit the schema, also when asked again. Loosen the schema or the prompt.',
  too_many_steps: 'The model wanted more turns than allowed. Raise maxSteps, or ask for less.',
  mcp_error: 'The tool server answered with an error. Test the connection.',
  tool_failed: 'The tool itself reported a failure; the message is its own.',
  unknown_tool: 'The server has no such tool. Test the connection to see which it has.',
  slack_error: 'Slack refused. The message names the reason.',
  blueprint_unavailable: 'The blueprint that this step runs is gone or not yours to run.',
  run_failed: 'The run that this step started failed. Look at that run.',
  too_deep: 'Blueprints run each other more than 16 deep. Look for a circle.',
  too_many_runs: 'Too many runs at once. Retry a little later.',
  file_unavailable: 'The file is not kept any more.',
  cancelled: 'Somebody cancelled the run.',
  aborted: 'Somebody ended the run here because nobody knew whether the step had happened.',
  stopped: 'A stop step ended the run as failed; that is how the blueprint is made.',
  internal: 'This is a fault of the server. Its log has the details.',
}

/** What to do about an error with this code, or a general word. */
export function hintFor(code: string | undefined): string {
  return (code && hints[code]) || 'Correct the cause, then retry from this step.'
}
