import { type DiffLine, diffLines, shortDiff } from './line-diff.ts'

/** Added and removed lines, with a few lines around them. */
export function DiffView({ before, after, same }: { before: string; after: string; same: string }) {
  const lines = shortDiff(diffLines(before, after))
  if (lines.length === 0) return <p className="note config-note">{same}</p>
  return (
    <pre className="config-diff mono" tabIndex={0} aria-label="Changed lines">
      {lines.map((line, index) => (
        <Line key={index} line={line} />
      ))}
    </pre>
  )
}

const SIGNS: Readonly<Record<DiffLine['kind'], string>> = { same: ' ', added: '+', dropped: '−' }

function Line({ line }: { line: DiffLine | null }) {
  if (line === null) return <span className="diff-line diff-gap">⋯</span>
  const { kind, text, before, after } = line
  return (
    <span className={`diff-line diff-${kind}`}>
      <span className="line-number" aria-hidden="true">
        {after ?? before}
      </span>
      <span className="diff-sign">{SIGNS[kind]}</span>
      {text === '' ? ' ' : text}
    </span>
  )
}
