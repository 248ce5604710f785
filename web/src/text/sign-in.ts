import { count } from './count'

/** Texts of pages/sign-in/frame.tsx. */
export const frameText = {
  blueprintd: 'blueprintd',
} as const

/** Texts of pages/sign-in/link-help.tsx. */
export const linkHelpText = {
  theOperatorCanCreateALink:
    'The operator can create a link with this command, also while the server is running. It works once, within 24 hours.',
  commandToCreateALink: 'Command to create a link',
  untilAPasswordIsSet: 'Until a password is set,',
  blueprintdServe: 'blueprintd serve',
  printsSuchALinkForThe: "prints this link for the server's owner at every start.",
} as const

/** Texts of pages/sign-in/new-password.tsx. */
export const newPasswordText = {
  password: 'Password',
  showOrHideThePassword: 'Show or hide the password',
} as const

/** Texts of pages/sign-in/password-strength.ts. */
export const passwordStrengthText = {
  useAtLeastCharactersAFew: (shortest: number) =>
    `Use at least ${shortest} characters. A few unrelated words are easy to remember.`,
  tooLong: 'Too long',
  useAtMostBytes: (longest: number) => `Use at most ${longest} bytes.`,
  tooShort: 'Too short',
  addCharacters: (missing: number) => `Add ${count(missing, 'character')}.`,
  yourEmail: 'Your email',
  thePasswordMustNotBeYour: 'The password must not be your email.',
  weak: 'Weak',
  commonWordsNamesKeyboardRows:
    'Common words, names, keyboard rows and repetitions are easy to guess. Add unrelated words.',
  fair: 'Fair',
  addOneOrTwoMoreWords: 'Add one or two more words to make it good.',
  good: 'Good',
  hardToGuess: 'Hard to guess.',
  strong: 'Strong',
  veryHardToGuess: 'Very hard to guess.',
} as const

/** Texts of pages/sign-in/setup-form.tsx. */
export const setupFormText = {
  passwordSetYouAreSignedIn: 'Password set. You are signed in.',
  welcomeToBlueprintd: 'Welcome to blueprintd',
  setYourPassword: 'Set your password',
  youAreTheFirstUserEnter: 'You are the first user. Enter your details, then build your first blueprint.',
  forYouAreSignedInAfterwards: (email: string) => `For ${email}. You are signed in afterwards.`,
  thisBrowserIsSignedInAs: (other: string, email: string) =>
    `This browser is signed in as ${other}. It will be signed in as ${email} instead.`,
  visibleToOthersInYour: 'Visible to others in your organizations',
  youSignInWithItNo: 'You sign in with it. No mail is sent.',
  youSignInWithItOnly: 'You sign in with it. Only the operator can change it.',
  getStarted: 'Get started',
  setPasswordAndSignIn: 'Set password and sign in',
} as const

/** Texts of pages/sign-in/setup-page.tsx. */
export const setupPageText = {
  thisPageNeedsALink: 'This page needs a link',
  openTheCompleteLinkThat: 'Open the complete link that blueprintd printed. It ends with a long token.',
  thisLinkIsNoLongerValid: 'Invalid or expired link',
  eachLinkWorksOnceWithin24:
    'Each link works once, within 24 hours. A newer link replaces it. If you already set your password, sign in.',
  setYourPassword: 'Set your password',
  goToSignIn: 'Go to sign-in',
  checkingTheLink: 'Checking the link',
} as const

/** Texts of pages/sign-in/sign-in-error.tsx. */
export const signInErrorText = {
  tooManyFailedAttempts: 'Too many failed attempts',
  thisAccountIsLockedToPrevent:
    'This account is locked to prevent password guessing. Even the correct password is refused until then.',
  youCanTryAgainNow: 'You can try again now.',
  tryAgainIn: 'Try again in',
  wrongEmailOrPassword: 'Wrong email or password',
  checkBothTenFailuresWithinFive: 'Check both. Ten failures within five minutes lock the account for a while.',
} as const

/** Texts of pages/sign-in/sign-in-page.tsx. */
export const signInPageText = {
  noPasswordYetOrForgotten: 'No password yet, or forgotten?',
  signIn: 'Sign in',
  youReturnToThePageYou: 'You return to the page you came from.',
  password: 'Password',
  showOrHideThePassword: 'Show or hide the password',
  youStaySignedInOnThis: 'You stay signed in on this browser for 30 days after the last use, and for 90 days at most.',
} as const
