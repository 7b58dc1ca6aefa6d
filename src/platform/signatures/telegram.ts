import { sha256 } from './signed-request.ts'
import type { SignedRequest, Verdict } from './signed-request.ts'
import { verifySharedToken } from './shared-token.ts'

/** `secret_token` of https://core.telegram.org/bots/api#setwebhook */
export const verifyTelegram = (request: SignedRequest, secret: string): Verdict =>
  verifySharedToken('X-Telegram-Bot-Api-Secret-Token', request, sha256(secret))
