// Renders Markdown of agents as React elements, never as HTML. Images become links, so that no request to another host
// can leak data.
import { t } from '@lingui/core/macro'
import { lexer } from 'marked'
import type { Token, Tokens } from 'marked'
import { memo } from 'react'
import type { ReactNode } from 'react'
import { CodeBlock } from '../../ui/forms/code-block.tsx'
import styles from './markdown.module.css'

const entities: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" }
const decode = (text: string): string =>
  text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? '')

const isSafe = (href: string): boolean => /^(?:https?:|mailto:|\/(?!\/))/i.test(href)

const Anchor = ({ href, children }: { href: string; children: ReactNode }) =>
  isSafe(href) ? (
    <a className="link" href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ) : (
    <span>{children}</span>
  )

const headings = { 1: 'h3', 2: 'h3', 3: 'h4', 4: 'h5', 5: 'h6', 6: 'h6' } as const

const Table = ({ header, rows, align }: Tokens.Table) => (
  <div className={styles['table']} tabIndex={0} role="group" aria-label={t`Table`}>
    <table>
      <thead>
        <tr>
          {header.map((cell, index) => (
            <th key={index} data-align={align[index]}>
              <Inline tokens={cell.tokens} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={at}>
            {row.map((cell, index) => (
              <td key={index} data-align={align[index]}>
                <Inline tokens={cell.tokens} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const List = ({ items, ordered, start }: Tokens.List) => {
  const children = items.map((item, index) => (
    <li key={index}>
      <Blocks tokens={item.tokens} />
    </li>
  ))
  return ordered ? <ol start={Number(start) || 1}>{children}</ol> : <ul>{children}</ul>
}

const inner = (token: Token): Token[] => ('tokens' in token ? (token.tokens ?? []) : [])

const One = ({ token }: { token: Token }): ReactNode => {
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'paragraph':
      return (
        <p>
          <Inline tokens={inner(token)} />
        </p>
      )
    case 'heading': {
      const Tag = headings[(token as Tokens.Heading).depth as 1]
      return (
        <Tag>
          <Inline tokens={inner(token)} />
        </Tag>
      )
    }
    case 'code':
      return <CodeBlock text={(token as Tokens.Code).text} label={t`Copy code`} />
    case 'list':
      return <List {...(token as Tokens.List)} />
    case 'table':
      return <Table {...(token as Tokens.Table)} />
    case 'blockquote':
      return (
        <blockquote>
          <Blocks tokens={inner(token)} />
        </blockquote>
      )
    case 'hr':
      return <hr />
    case 'strong':
      return (
        <strong>
          <Inline tokens={inner(token)} />
        </strong>
      )
    case 'em':
      return (
        <em>
          <Inline tokens={inner(token)} />
        </em>
      )
    case 'del':
      return (
        <del>
          <Inline tokens={inner(token)} />
        </del>
      )
    case 'codespan':
      return <code>{decode((token as Tokens.Codespan).text)}</code>
    case 'br':
      return <br />
    case 'checkbox':
      return (token as unknown as { checked: boolean }).checked ? '☑ ' : '☐ '
    case 'link':
      return (
        <Anchor href={(token as Tokens.Link).href}>
          <Inline tokens={inner(token)} />
        </Anchor>
      )
    case 'image':
      return (
        <Anchor href={(token as Tokens.Image).href}>
          {(token as Tokens.Image).text || (token as Tokens.Image).href}
        </Anchor>
      )
    case 'text':
      return inner(token).length > 0 ? <Inline tokens={inner(token)} /> : decode((token as Tokens.Text).text)
    default:
      return decode(token.raw)
  }
}

const Inline = ({ tokens }: { tokens: Token[] }) => tokens.map((token, index) => <One key={index} token={token} />)
const Blocks = Inline

/** Renders Markdown, also incomplete text of a response in progress. */
export const Markdown = memo(({ text }: { text: string }) => (
  <div className={styles['text']}>
    <Blocks tokens={lexer(text, { gfm: true, breaks: true })} />
  </div>
))
