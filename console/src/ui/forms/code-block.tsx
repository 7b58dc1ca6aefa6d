import { CopyButton } from './copy-button.tsx'
import styles from './code-block.module.css'

/** A command or another text to take along, as it is. */
export const CodeBlock = ({ text, label = 'Copy' }: { text: string; label?: string }) => (
  <div className={styles['code']}>
    <pre tabIndex={0}>{text}</pre>
    <CopyButton text={text} label={label} />
  </div>
)
