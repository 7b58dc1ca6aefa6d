import { apiText } from '../../i18n/language.ts'
import styles from './connections.module.css'

export const ToolList = ({ tools }: { tools: readonly { name: string; description: string }[] }) => (
  <ul className={styles['tools']}>
    {tools.map(({ name, description }) => (
      <li key={name}>
        <code>{name}</code>
        <span>{apiText(description)}</span>
      </li>
    ))}
  </ul>
)
