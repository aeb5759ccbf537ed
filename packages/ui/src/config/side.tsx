import type { CheckedConfig, ConfigProblem, RefusedEdit } from '@portico/gateway/admin-config'
import { Copy } from '../parts/copy.tsx'
import { effectSentences } from './effect-text.ts'
import { withoutPlace } from './place.ts'

export interface SideProps {
  /** Of the text as it is; null while nothing is written. */
  checked: CheckedConfig | null
  isChecking: boolean
  /** Why it could not be checked. */
  failure: string | null
  /** There is no file of this config. */
  isInMemory: boolean
  /** Of the last reload, where it was refused. */
  reload: readonly ConfigProblem[]
  /** Changed lines, for those who bring them to the file. */
  patch: string
  onGo: (line: number, column: number) => void
}

/** What is wrong with the text, and what would come of it. */
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
          It could not be checked: {failure}
        </p>
      )}
      <Problems title={isNew ? 'Problems' : 'The last reload was refused'} problems={problems} onGo={onGo} />
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
          <Keys title="Routes that change" keys={checked.effect.routes.changed} />
          <Keys title="Routes that are added" keys={checked.effect.routes.added} />
          <Keys title="Routes that are dropped" keys={checked.effect.routes.dropped} />
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
            <Place line={line} column={column} onGo={onGo} /> <span className="mono">{withoutPlace(text)}</span>
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
    <section className="config-refused" aria-label="Not here">
      <h2>
        ▲ To be changed in {isInMemory ? 'a file of your own' : 'the file itself'}: {edits.length}
      </h2>
      <ol>
        {edits.map(({ path, line, column, text }) => (
          <li key={`${path} ${text}`}>
            <Place line={line} column={column} onGo={onGo} /> <span className="mono">{path}</span>: {text}
          </li>
        ))}
      </ol>
      <p>
        Take the change along, and make it in the file: <Copy text={patch} label="Copy the changed lines" />
      </p>
    </section>
  )
}

interface PlaceProps {
  line: number | null
  column: number | null
  onGo: SideProps['onGo']
}

function Place({ line, column, onGo }: PlaceProps) {
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
