import styles from './skeleton.module.css'

/** Grey lines where rows will be, after a moment: a quick answer should not flicker. */
export const Skeleton = ({ rows = 6, label = 'Loading' }: { rows?: number; label?: string }) => (
  <div className={styles['loading']} role="status" aria-label={label}>
    {Array.from({ length: rows }, (_, index) => (
      <span key={index} className={styles['bar']} data-width={index % 4} />
    ))}
  </div>
)
