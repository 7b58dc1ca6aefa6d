import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { copyText } from '../../clipboard.ts'
import { Button, IconButton } from './button.tsx'
import styles from './copy.module.css'

const useCopy = (text: string): { copied: boolean; copy: () => void } => {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return undefined
    const timer = setTimeout(() => setCopied(false), 1_600)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = (): void => {
    copyText(text).then(
      () => setCopied(true),
      // What is shown can still be selected.
      () => setCopied(false),
    )
  }
  return { copied, copy }
}

export const CopyButton = ({ text, label = 'Copy' }: { text: string; label?: string }) => {
  const { copied, copy } = useCopy(text)
  return <IconButton small label={copied ? 'Copied' : label} icon={copied ? <Check /> : <Copy />} onClick={copy} />
}

/** A secret that is shown this once: readable, selected by one click, copied by a button. */
export const SecretField = ({ label, value, note }: { label: string; value: string; note: string }) => {
  const { copied, copy } = useCopy(value)
  return (
    <div className={styles['secret']}>
      <span className={styles['label']} id="secret-label">
        {label}
      </span>
      <div className={styles['row']}>
        <output className={styles['value']} aria-labelledby="secret-label">
          {value}
        </output>
        <Button variant="primary" icon={copied ? <Check /> : <Copy />} onClick={copy}>
          {copied ? 'Copied' : 'Copy'}
        </Button>
      </div>
      <p className={styles['note']}>{note}</p>
    </div>
  )
}

/** A command or another text to take along, as it is. */
export const CodeBlock = ({ text, label = 'Copy' }: { text: string; label?: string }) => (
  <div className={styles['code']}>
    <pre tabIndex={0}>{text}</pre>
    <CopyButton text={text} label={label} />
  </div>
)
