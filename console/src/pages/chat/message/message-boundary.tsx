import { Component } from 'react'
import type { ReactNode } from 'react'
import { PlainText, useLongText } from '../../../ui/text/long-text.tsx'

interface Props {
  /** Shown instead when the content cannot be rendered. */
  text: string
  children: ReactNode
}

const Instead = ({ text }: { text: string }) => {
  const { shown, more } = useLongText(text)
  return (
    <>
      <PlainText text={shown} />
      {more}
    </>
  )
}

interface State {
  /** That was rendered last. */
  text: string
  hasFailed: boolean
}

/** Shows the text of a message when its content cannot be rendered, so that the rest of the page stays. */
export class MessageBoundary extends Component<Props, State> {
  override state: State = { text: this.props.text, hasFailed: false }

  static getDerivedStateFromError(): Partial<State> {
    return { hasFailed: true }
  }

  /** The next text of a response in progress is tried again. */
  static getDerivedStateFromProps({ text }: Props, state: State): State | null {
    return text === state.text ? null : { text, hasFailed: false }
  }

  override render(): ReactNode {
    return this.state.hasFailed ? <Instead text={this.props.text} /> : this.props.children
  }
}
