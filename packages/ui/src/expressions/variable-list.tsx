import type { ExpressionPlace } from '@portico/gateway/admin-api'

/** The variables that expressions of a phase can read. */
export function VariableList({ place: { phase, variables } }: { place: ExpressionPlace }) {
  return (
    <details className="expr-readable">
      <summary>
        Available: {variables.length} {variables.length === 1 ? 'variable' : 'variables'}
      </summary>
      {variables.length === 0 && <p className="note">An expression of {phase} has no variables.</p>}
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
