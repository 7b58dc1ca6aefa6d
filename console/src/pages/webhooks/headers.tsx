import { t } from '@lingui/core/macro'
import styles from './webhooks.module.css'

export const Headers = ({ headers, title = t`Headers` }: { headers: Record<string, string>; title?: string }) => {
  const entries = Object.entries(headers)
  if (entries.length === 0) return null
  return (
    <details className={styles['headers']}>
      <summary>
        {title} ({entries.length})
      </summary>
      <dl>
        {entries.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
