import { Search } from 'lucide-react'
import type { ComponentProps } from 'react'
import styles from './search-field.module.css'

/** A field that searches as a person types. `label` is for screen readers, and the placeholder unless there is another. */
export const SearchField = ({
  label,
  onSearch,
  ...input
}: { label: string; value: string; onSearch: (text: string) => void } & Omit<
  ComponentProps<'input'>,
  'type' | 'onChange' | 'className'
>) => (
  <div className={styles['search']}>
    <Search aria-hidden="true" />
    <input
      placeholder={label}
      {...input}
      type="search"
      aria-label={label}
      className={styles['input']}
      onChange={({ target }) => onSearch(target.value)}
    />
  </div>
)
