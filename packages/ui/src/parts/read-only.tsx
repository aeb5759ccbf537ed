/** The reason beside controls that are disabled; nothing when they are not. */
export function ReadOnly({ reason }: { reason: string | null }) {
  if (reason === null) return null
  return (
    <p className="dim" role="note">
      {reason}
    </p>
  )
}
