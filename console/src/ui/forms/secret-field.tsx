import { t } from '@lingui/core/macro'
import { Check, Copy } from 'lucide-react'
import { Button } from './button.tsx'
import { useCopy } from './copy-button.tsx'
import styles from './secret-field.module.css'

/** A secret that is shown once. One click selects it. */
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
          {copied ? t`Copied` : t`Copy`}
        </Button>
      </div>
      <p className={styles['note']}>{note}</p>
    </div>
  )
}
