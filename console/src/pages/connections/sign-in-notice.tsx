import { Trans } from '@lingui/react/macro'
import { Notice } from '../../ui/notice.tsx'

/** Says that a server asks for sign-in, and where. */
export const SignInNotice = ({ url }: { url: string }) => (
  <Notice tone="info">
    <Trans>This server asks you to sign in at {new URL(url).host}. Its page opens in a new window.</Trans>
  </Notice>
)
