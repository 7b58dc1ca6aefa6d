'use client'

import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport } from 'ai'
import type { UIMessage } from 'ai'
import { useState } from 'react'

const transport = new DefaultChatTransport({
  api: '/api/chat',
  // Atrium has the history, so only the new message is sent.
  prepareSendMessagesRequest: ({ id, messages, trigger }) => ({ body: { id, messages: messages.slice(-1), trigger } }),
})

export const Chat = ({ history }: { history: UIMessage[] }) => {
  const { messages, sendMessage, status, error } = useChat({ transport, messages: history })
  const [text, setText] = useState('')
  const isBusy = status === 'submitted' || status === 'streaming'
  return (
    <main>
      <h1>Chat</h1>
      <ol aria-live="polite" aria-busy={isBusy}>
        {messages.map(({ id, role, parts }) => (
          <li key={id} className={role}>
            <strong>{role === 'user' ? 'You' : 'Agent'}</strong>
            {parts.map((part, index) => (part.type === 'text' ? <p key={index}>{part.text}</p> : null))}
          </li>
        ))}
      </ol>
      {error && <p role="alert">The message could not be sent. Try again.</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (text.trim() === '' || isBusy) return
          void sendMessage({ text })
          setText('')
        }}
      >
        <label htmlFor="message">Message</label>
        <input id="message" value={text} onChange={({ target }) => setText(target.value)} autoComplete="off" />
        <button type="submit" disabled={isBusy}>
          Send
        </button>
      </form>
    </main>
  )
}
