import { Trans } from '@lingui/react/macro'
import { isCode } from '../../api.ts'
import { ButtonLink } from '../../ui/forms/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import styles from './composer.module.css'

/** Why a message could not be sent, with a link to billing when the balance is used up. */
export const SendError = ({ error }: { error: unknown }) =>
  error === undefined ? null : (
    <div className={styles['sendError']}>
      <Notice error={error} />
      {isCode(error, 'PAYMENT_REQUIRED') && (
        <ButtonLink small to="/billing">
          <Trans>Open Billing</Trans>
        </ButtonLink>
      )}
    </div>
  )
