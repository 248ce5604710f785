import { failureHintsText } from '../../text/runs'

/** What to do about a step's failure, by its error code. */
const hints = new Map(
  Object.entries<string>({
    bad_config: failureHintsText.fixTheConfigurationOfThisStep,
    unknown_name: failureHintsText.aTemplateOrExpressionUsesAn,
    not_boolean: failureHintsText.makeTheConditionReturnTrueOr,
    not_a_list: failureHintsText.giveTheLoopAListFor,
    timeout: failureHintsText.theStepExceededItsTimeLimit,
    http_status: failureHintsText.theServiceRefusedTheRequest,
    connect_failed: failureHintsText.theServiceCouldNotBeReached,
    address_refused: failureHintsText.theServerDoesNotConnectTo,
    host_not_allowed: failureHintsText.theConnectionDoesNotAllowThis,
    tls_failed: failureHintsText.theCertificateOfTheServiceWas,
    too_many_redirects: failureHintsText.theAddressRedirectsTooOftenFix,
    too_large: failureHintsText.aValueExceededItsSizeLimit,
    connection_unavailable: failureHintsText.theConnectionWasDeletedOrYou,
    needs_grant: failureHintsText.anotherUserWroteThisVersion,
    secret_denied: failureHintsText.theUserOfThisRunCannot,
    token_failed: failureHintsText.theSignInOfTheConnection,
    login_failed: failureHintsText.theMailServerRefusedTheLogin,
    rejected: failureHintsText.theRequestWasRejectedTheStep,
    recipients_rejected: failureHintsText.theMailServerRefusedSome,
    outcome_unknown: failureHintsText.theOutcomeIsUnknownCheckThe,
    expired: failureHintsText.nobodyAnsweredInTimeRetryFrom,
    budget_exceeded: failureHintsText.theRunUsedUpItsBudget,
    schema_mismatch: failureHintsText.theResponseDidNotMatchThe,
    too_many_steps: failureHintsText.theModelNeededMoreTurnsThan,
    mcp_error: failureHintsText.theToolServerReturnedAnError,
    tool_failed: failureHintsText.theToolReportedAFailureSee,
    unknown_tool: failureHintsText.theToolServerDoesNotOffer,
    slack_error: failureHintsText.slackRefusedTheRequestSeeThe,
    blueprint_unavailable: failureHintsText.theBlueprintOfThisStepWas,
    run_failed: failureHintsText.theRunStartedByThisStep,
    too_deep: failureHintsText.blueprintsStartEachOtherMore,
    too_many_runs: failureHintsText.tooManyRunsAreActiveRetry,
    file_unavailable: failureHintsText.theFileIsNoLongerStored,
    cancelled: failureHintsText.theRunWasCancelled,
    aborted: failureHintsText.theRunWasEndedBecauseThe,
    stopped: failureHintsText.aStopStepEndedTheRun,
    internal: failureHintsText.thisIsABugInThe,
  }),
)

/** What to do about an error with this code, or a general hint. */
export function hintFor(code: string | undefined): string {
  return (code && hints.get(code)) || failureHintsText.fixTheCauseThenRetryFrom
}
