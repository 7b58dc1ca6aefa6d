import styles from './request-id.module.css'
import { CopyButton } from '../forms/copy-button.tsx'

/** The number to name when one asks for help: the server's log and the audit log know it. */
export const RequestId = ({ id }: { id: string }) => (
  <span className={styles['id']}>
    <span>
      Request <code>{id}</code>
    </span>
    <CopyButton text={id} label="Copy the request id" />
  </span>
)
