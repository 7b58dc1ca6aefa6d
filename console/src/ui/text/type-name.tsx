import { Fragment } from 'react'
import styles from './type-name.module.css'

/** `webhook.event.received`, which breaks after dots. */
export const TypeName = ({ type }: { type: string }) => (
  <span className={styles['type']}>
    {type.split('.').map((word, index) => (
      // oxlint-disable-next-line react/no-array-index-key -- the words of a type never change
      <Fragment key={index}>
        {index > 0 && (
          <>
            .<wbr />
          </>
        )}
        {word}
      </Fragment>
    ))}
  </span>
)
