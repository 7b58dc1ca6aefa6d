import { isCode } from '../../api.ts'
import { ButtonLink } from '../../ui/forms/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import styles from './composer.module.css'

/** Why what was written did not go, and the way out where there is one. */
export const SendError = ({ error }: { error: unknown }) =>
  error === undefined ? null : (
    <div className={styles['refused']}>
      <Notice error={error} />
      {isCode(error, 'PAYMENT_REQUIRED') && (
        <ButtonLink small to="/billing">
          Open Billing
        </ButtonLink>
      )}
    </div>
  )
