import type { ComponentProps } from 'react'

/** A form without the browser's own validation messages: fields show their errors themselves. */
export const Form = ({ onSubmit, ...rest }: Omit<ComponentProps<'form'>, 'onSubmit'> & { onSubmit: () => void }) => (
  <form
    noValidate
    {...rest}
    onSubmit={(event) => {
      event.preventDefault()
      // React bubbles events through portals, so a form inside a dialog would also submit the form that opened it.
      event.stopPropagation()
      onSubmit()
    }}
  />
)
