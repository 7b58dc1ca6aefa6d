/** Plain text in which names are between backticks, as in the descriptions of the API. */
export const InlineCode = ({ text }: { text: string }) =>
  text.split('`').map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // oxlint-disable-next-line react/no-array-index-key -- the parts of a text never change
      <code key={index}>{part}</code>
    ),
  )
