import type { ExplainedPart } from '@portico/gateway/admin-api'
import { partText } from '../parts/part-text.ts'
import { Value } from '../parts/value.tsx'

/** A part of an expression with its value, and below it the parts it consists of. */
export function PartTree({ part }: { part: ExplainedPart }) {
  return (
    <ul className="expr-tree" aria-label="Values of the parts">
      <Branch part={part} />
    </ul>
  )
}

function Branch({ part }: { part: ExplainedPart }) {
  const { text, state, parts } = part
  return (
    <li>
      <div className="expr-part">
        <span>
          <Value text={text} most={200} />
        </span>
        <span className={state === 'found' ? 'expr-value' : `expr-value expr-${state}`}>
          <span className="visually-hidden">value </span>
          <Value text={partText(part)} most={200} />
        </span>
      </div>
      {parts.length > 0 && (
        <ul>
          {parts.map((each, index) => (
            <Branch key={index} part={each} />
          ))}
        </ul>
      )}
    </li>
  )
}
