import { t } from '@lingui/core/macro'
import { Badge } from '../../../ui/data/badge.tsx'
import styles from './endpoints.module.css'

/** The first `most` types, and the number of the others. */
export const TypeList = ({ types, most }: { types: readonly string[]; most: number }) => {
  if (types.includes('*')) return t`All events`
  const others = types.length - most
  return (
    <span className={styles['typeList']}>
      {types.slice(0, most).map((type) => (
        <Badge key={type}>{type}</Badge>
      ))}
      {others > 0 && <span className={styles['faint']}>+{others}</span>}
    </span>
  )
}
