import { useState } from 'react'
import { cutMiddle } from '../format/cut.ts'
import './value.css'

/** A text from traffic or config. A text longer than `most` characters is cut in the middle until it is clicked. */
export function Value({ text, most = 80 }: { text: string; most?: number }) {
  const [isWhole, setWhole] = useState(false)
  if (text.length <= most || isWhole) return <span className="mono wrap">{text}</span>
  return (
    <button type="button" className="mono cut" title="Show the whole text" onClick={() => setWhole(true)}>
      {cutMiddle(text, most)}
    </button>
  )
}
