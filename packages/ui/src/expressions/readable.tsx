import type { ExpressionPlace } from '@portico/gateway/admin-api'

/** The variables that expressions of a place can read. */
export function Readable({ place: { phase, variables } }: { place: ExpressionPlace }) {
  return (
    <details className="expr-readable">
      <summary>
        What it can read there: {variables.length} {variables.length === 1 ? 'variable' : 'variables'}
      </summary>
      {variables.length === 0 && <p className="note">An expression of {phase} reads nothing of a request.</p>}
      <dl>
        {variables.map(({ name, fields, isOptional }) => (
          <div key={name}>
            <dt>
              <span className="mono">{name}</span>
              {isOptional && <span className="dim"> may be absent</span>}
            </dt>
            <dd className="mono dim">{fields === null ? 'any field' : fields.join(', ')}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
