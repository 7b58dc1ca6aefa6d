import { Fragment } from 'react'

/** `webhook.event.received`, which breaks after dots. */
export const TypeName = ({ type }: { type: string }) =>
  type.split('.').map((word, index) => (
    // oxlint-disable-next-line react/no-array-index-key -- the words of a type never change
    <Fragment key={index}>
      {index > 0 && (
        <>
          .<wbr />
        </>
      )}
      {word}
    </Fragment>
  ))
