import styles from './keyboard-shortcut.module.css'

const isApple = /Mac|iP(?:hone|ad)/.test(navigator.platform)

/** `mod+K` as ⌘ K on Apple devices and Ctrl K elsewhere. */
export const KeyboardShortcut = ({ keys }: { keys: string }) => (
  <kbd className={styles['kbd']}>
    {keys
      .split('+')
      .map((key) => (key === 'mod' ? (isApple ? '⌘' : 'Ctrl') : key))
      .join(' ')}
  </kbd>
)
