import type { CheckedConfig, ConfigProblem, RefusedEdit } from '@portico/gateway/admin-config'
import { Copy } from '../parts/copy.tsx'
import { effectSentences } from './effect-text.ts'
import { withoutLocation } from './location.ts'

interface SideProps {
  /** The check of the text; null without an edit. */
  checked: CheckedConfig | null
  isChecking: boolean
  /** The error of the check itself; null when it ran. */
  failure: string | null
  /** The config has no file. */
  isInMemory: boolean
  /** The problems of the last reload, if it was rejected. */
  reload: readonly ConfigProblem[]
  /** The changed lines as a diff, to apply them in the file. */
  patch: string
  onGo: (line: number, column: number) => void
}

/** The problems of the text, and the effect of applying it. */
export function Side({ checked, isChecking, failure, isInMemory, reload, patch, onGo }: SideProps) {
  const isNew = checked !== null
  const problems = isNew ? checked.problems : reload
  return (
    <aside className="config-side" aria-label="Problems and effect">
      <p className="visually-hidden" role="status">
        {isChecking ? 'Checking' : isNew ? `${problems.length} problems` : ''}
      </p>
      {failure !== null && (
        <p className="config-failure" role="alert">
          The check failed: {failure}
        </p>
      )}
      <Problems title={isNew ? 'Problems' : 'The last reload was rejected'} problems={problems} onGo={onGo} />
      {isNew && problems.length === 0 && checked.refused.length === 0 && <p className="dim">No problems.</p>}
      {isNew && <Refused edits={checked.refused} isInMemory={isInMemory} patch={patch} onGo={onGo} />}
      {isNew && <Problems title="Warnings" problems={checked.warnings} onGo={onGo} />}
      {checked?.effect != null && (
        <section aria-label="Effect">
          <h2>What will happen</h2>
          <ul>
            {effectSentences(checked.effect).map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
          <Keys title="Changed routes" keys={checked.effect.routes.changed} />
          <Keys title="Added routes" keys={checked.effect.routes.added} />
          <Keys title="Removed routes" keys={checked.effect.routes.dropped} />
        </section>
      )}
    </aside>
  )
}

interface ListProps {
  title: string
  problems: readonly ConfigProblem[]
  onGo: SideProps['onGo']
}

function Problems({ title, problems, onGo }: ListProps) {
  if (problems.length === 0) return null
  const isBad = title !== 'Warnings'
  return (
    <section className={isBad ? 'config-problems' : ''} aria-label={title}>
      <h2>
        {isBad && '▲ '}
        {title}: {problems.length}
      </h2>
      <ol>
        {problems.map(({ text, line, column }, index) => (
          <li key={index}>
            <LocationLink line={line} column={column} onGo={onGo} />{' '}
            <span className="mono">{withoutLocation(text)}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}

interface RefusedProps extends Pick<SideProps, 'isInMemory' | 'patch' | 'onGo'> {
  edits: readonly RefusedEdit[]
}

function Refused({ edits, isInMemory, patch, onGo }: RefusedProps) {
  if (edits.length === 0) return null
  return (
    <section className="config-refused" aria-label="Changes for the file">
      <h2>
        ▲ Change these in {isInMemory ? 'a file of your own' : 'the file itself'}: {edits.length}
      </h2>
      <ol>
        {edits.map(({ path, line, column, text }) => (
          <li key={`${path} ${text}`}>
            <LocationLink line={line} column={column} onGo={onGo} /> <span className="mono">{path}</span>: {text}
          </li>
        ))}
      </ol>
      <p>
        Copy the changed lines and apply them in the file: <Copy text={patch} label="Copy the changed lines" />
      </p>
    </section>
  )
}

interface LocationLinkProps {
  line: number | null
  column: number | null
  onGo: SideProps['onGo']
}

function LocationLink({ line, column, onGo }: LocationLinkProps) {
  if (line === null) return null
  return (
    <button type="button" className="link mono" onClick={() => onGo(line, column ?? 1)}>
      {line}:{column ?? 1}
    </button>
  )
}

function Keys({ title, keys }: { title: string; keys: readonly string[] }) {
  if (keys.length === 0) return null
  return (
    <details>
      <summary>
        {title} <span className="dim">({keys.length})</span>
      </summary>
      <ul className="mono">
        {keys.map((key) => (
          <li key={key}>{key}</li>
        ))}
      </ul>
    </details>
  )
}
