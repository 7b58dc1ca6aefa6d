import type { ComponentProps } from 'react'

/** Enter and its button send it. What is wrong with a field is said beside the field, not by the browser. */
export const Form = ({ onSubmit, ...rest }: Omit<ComponentProps<'form'>, 'onSubmit'> & { onSubmit: () => void }) => (
  <form
    noValidate
    {...rest}
    onSubmit={(event) => {
      event.preventDefault()
      // React passes events on to the place in the tree, which may be a form as well.
      event.stopPropagation()
      onSubmit()
    }}
  />
)
