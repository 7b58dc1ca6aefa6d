// Renders Markdown of agents as React elements, never as HTML. Images become links, so that no request to another host
// can leak data.
import { t } from '@lingui/core/macro'
import { memo } from 'react'
import type { ReactNode } from 'react'
import { CodeBlock } from '../../../ui/forms/code-block.tsx'
import { PlainText, useLongText } from '../../../ui/text/long-text.tsx'
import type { MarkdownNode } from './lex.ts'
import styles from './markdown.module.css'
import { useLexed } from './use-lexed.ts'

const isSafe = (href: string): boolean => /^(?:https?:|mailto:|\/(?!\/))/i.test(href)

const Anchor = ({ href, children }: { href: string; children: ReactNode }) =>
  isSafe(href) ? (
    <a className="link" href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ) : (
    <span>{children}</span>
  )

const headings = ['h3', 'h3', 'h4', 'h5', 'h6', 'h6'] as const

const Table = ({ rows: [header = [], ...rows], align }: Extract<MarkdownNode, { type: 'table' }>) => (
  <div className={styles['table']} tabIndex={0} role="group" aria-label={t`Table`}>
    <table>
      <thead>
        <tr>
          {header.map((cell, index) => (
            <th key={index} data-align={align[index]}>
              <Nodes of={cell} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={at}>
            {row.map((cell, index) => (
              <td key={index} data-align={align[index]}>
                <Nodes of={cell} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const List = ({ items, start }: Extract<MarkdownNode, { type: 'list' }>) => {
  const children = items.map((item, index) => (
    <li key={index}>
      <Nodes of={item} />
    </li>
  ))
  return start === undefined ? <ul>{children}</ul> : <ol start={start}>{children}</ol>
}

const One = ({ node }: { node: MarkdownNode }): ReactNode => {
  if (typeof node === 'string') return node
  switch (node.type) {
    case 'text':
      return <Nodes of={node.nodes} />
    case 'heading': {
      const Tag = headings[node.level - 1] ?? 'h6'
      return (
        <Tag>
          <Nodes of={node.nodes} />
        </Tag>
      )
    }
    case 'code':
      return <CodeBlock text={node.text} label={t`Copy code`} />
    case 'codespan':
      return <code>{node.text}</code>
    case 'raw':
      return <PlainText text={node.text} />
    case 'list':
      return <List {...node} />
    case 'table':
      return <Table {...node} />
    case 'link':
      return (
        <Anchor href={node.href}>
          <Nodes of={node.nodes} />
        </Anchor>
      )
    case 'br':
    case 'hr':
      return <node.type />
    default:
      return (
        <node.type>
          <Nodes of={node.nodes} />
        </node.type>
      )
  }
}

const Nodes = ({ of }: { of: readonly MarkdownNode[] }) => of.map((node, index) => <One key={index} node={node} />)

/** Memoized, so that only the blocks that changed are rendered again while a response arrives. */
const Block = memo(({ json }: { json: string }) => <One node={JSON.parse(json) as MarkdownNode} />)

const Formatted = ({ text }: { text: string }) => {
  const blocks = useLexed(text)
  if (!blocks) return <PlainText text={text} />
  return (
    <div className={styles['text']}>
      {blocks.map((json, index) => (
        <Block key={index} json={json} />
      ))}
    </div>
  )
}

/** Renders Markdown, also incomplete text of a response in progress. All of a long text is shown without formatting. */
export const Markdown = memo(({ text }: { text: string }) => {
  const { shown, more, isExpanded } = useLongText(text)
  return (
    <>
      {isExpanded ? <PlainText text={shown} /> : <Formatted text={shown} />}
      {more}
    </>
  )
})
