// The macro `Trans` is compiled to this component.
import { Trans as Base } from '@lingui/react'
import type { TransProps } from '@lingui/react'

const protectedValue = (value: unknown): unknown =>
  typeof value === 'string' && value.includes('<') ? <>{value}</> : value

/** Shows values as they are. Lingui itself takes `<b>…</b>` in a value, for example the name of a file, for an element. */
export const Trans = ({ values, ...props }: TransProps) => (
  <Base
    {...props}
    {...(values && {
      values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, protectedValue(value)])),
    })}
  />
)
