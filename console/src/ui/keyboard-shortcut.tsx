import styles from './keyboard-shortcut.module.css'

const isApple = /Mac|iP(?:hone|ad)/.test(navigator.platform)

/** `mod+K` as the keys of this machine: ⌘ K or Ctrl K. */
export const KeyboardShortcut = ({ keys }: { keys: string }) => (
  <kbd className={styles['kbd']}>
    {keys
      .split('+')
      .map((key) => (key === 'mod' ? (isApple ? '⌘' : 'Ctrl') : key))
      .join(' ')}
  </kbd>
)
