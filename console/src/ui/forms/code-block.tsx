import { PlainText, useLongText } from '../text/long-text.tsx'
import { CopyButton } from './copy-button.tsx'
import styles from './code-block.module.css'

/** Preformatted text with a copy button. */
export const CodeBlock = ({ text, label }: { text: string; label?: string }) => {
  const { shown, more } = useLongText(text)
  return (
    <>
      <div className={styles['code']}>
        <pre tabIndex={0}>
          <PlainText text={shown} />
        </pre>
        <CopyButton text={text} {...(label !== undefined && { label })} />
      </div>
      {more}
    </>
  )
}
