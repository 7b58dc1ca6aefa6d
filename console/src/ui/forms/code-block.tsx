import { CopyButton } from './copy-button.tsx'
import styles from './code-block.module.css'

/** Preformatted text with a copy button. */
export const CodeBlock = ({ text, label }: { text: string; label?: string }) => (
  <div className={styles['code']}>
    <pre tabIndex={0}>{text}</pre>
    <CopyButton text={text} {...(label !== undefined && { label })} />
  </div>
)
