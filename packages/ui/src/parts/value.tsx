import { useState } from 'react'
import { cutMiddle } from '../format/cut.ts'

/** A text from traffic or config: cut in the middle when it is long, whole on a click. */
export function Value({ text, most = 80 }: { text: string; most?: number }) {
  const [isWhole, setWhole] = useState(false)
  if (text.length <= most || isWhole) return <span className="mono wrap">{text}</span>
  return (
    <button type="button" className="mono cut" title="Show all of it" onClick={() => setWhole(true)}>
      {cutMiddle(text, most)}
    </button>
  )
}
