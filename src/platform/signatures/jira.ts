import { verifyHubSignature } from './hub-signature.ts'
import type { SignedRequest, Verdict } from './signed-request.ts'

/** https://developer.atlassian.com/cloud/jira/platform/webhooks/#secure-admin-webhooks */
export const verifyJira = (request: SignedRequest, secret: string): Verdict =>
  verifyHubSignature('X-Hub-Signature', request, secret)
