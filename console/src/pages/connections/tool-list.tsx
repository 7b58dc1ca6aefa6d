import styles from './connections.module.css'

export const ToolList = ({ tools }: { tools: readonly { name: string; description: string }[] }) => (
  <ul className={styles['tools']}>
    {tools.map(({ name, description }) => (
      <li key={name}>
        <code>{name}</code>
        <span>{description}</span>
      </li>
    ))}
  </ul>
)
