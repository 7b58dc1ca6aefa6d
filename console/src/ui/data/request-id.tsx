import styles from './request-id.module.css'
import { CopyButton } from '../forms/copy-button.tsx'

/** The ID that finds a request in the server log and the audit log. */
export const RequestId = ({ id }: { id: string }) => (
  <span className={styles['id']}>
    <span>
      Request ID <code>{id}</code>
    </span>
    <CopyButton text={id} label="Copy request ID" />
  </span>
)
