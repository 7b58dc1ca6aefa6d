import { Trans, useLingui } from '@lingui/react/macro'
import styles from './request-id.module.css'
import { CopyButton } from '../forms/copy-button.tsx'

/** The ID that finds a request in the server log and the audit log. */
export const RequestId = ({ id }: { id: string }) => {
  const { t } = useLingui()
  return (
    <span className={styles['id']}>
      <span>
        <Trans>
          Request ID <code>{id}</code>
        </Trans>
      </span>
      <CopyButton text={id} label={t`Copy request ID`} />
    </span>
  )
}
