import { t } from '@lingui/core/macro'
import { TriangleAlert } from 'lucide-react'
import { useDeferredValue } from 'react'
import { ButtonLink } from '../../ui/forms/button.tsx'
import { useAttentionItems } from './attention-items.tsx'
import styles from './home.module.css'

/** Items that need action, with links; renders nothing when there are none. */
export const Attention = () => {
  const items = useAttentionItems()
  const isShown = useDeferredValue(items.length > 0)
  if (!isShown) return null
  return (
    <section className={styles['attention']} aria-label={t`Needs attention`}>
      {items.map(({ key, text, action, to }) => (
        <div key={key} className={styles['notice']}>
          <TriangleAlert aria-hidden="true" />
          <p>{text}</p>
          <ButtonLink small to={to}>
            {action}
          </ButtonLink>
        </div>
      ))}
    </section>
  )
}
