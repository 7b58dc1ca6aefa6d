import { Search } from 'lucide-react'
import type { ComponentProps } from 'react'
import { useSearchText } from '../../search-params.ts'
import styles from './search-field.module.css'

/**
 * A field whose text is searched a moment after the last key; Escape clears it. `value` is the search that the page shows.
 * `label` is for screen readers, and the placeholder unless there is another.
 */
export const SearchField = ({
  label,
  value,
  onSearch,
  onKeyDown,
  ...input
}: { label: string; value: string; onSearch: (text: string) => void } & Omit<
  ComponentProps<'input'>,
  'type' | 'onChange' | 'className'
>) => {
  const [text, setText] = useSearchText(value, onSearch)
  return (
    <div className={styles['search']}>
      <Search aria-hidden="true" />
      <input
        placeholder={label}
        {...input}
        type="search"
        aria-label={label}
        className={styles['input']}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          onKeyDown?.(event)
          if (event.key !== 'Escape' || text === '') return
          setText('')
          event.preventDefault()
        }}
      />
    </div>
  )
}
