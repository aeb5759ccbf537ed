import { Button } from '@mantine/core'
import type { Evaluation, ExpressionProblem } from '@portico/gateway/admin-api'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Loading } from '../parts/states.tsx'
import type { EvaluationInput } from './evaluation-input.ts'
import { markedLine } from './marked-line.ts'
import { PartTree } from './part-tree.tsx'
import { evaluationQuery } from './queries.ts'

interface ResultProps {
  expression: string
  phase: string
  /** Null while the variables are not valid JSON. */
  given: EvaluationInput | null
  /** Selects a location in the text of the expression. */
  onPlace: (offset: number) => void
}

/** The value of the expression and of its parts, or its problems. */
export function Result({ expression, phase, given, onPlace }: ResultProps) {
  const isBlank = expression.trim() === ''
  const { data, error, refetch, isPlaceholderData } = useQuery(
    evaluationQuery(isBlank || given === null ? null : { expression, phase, ...given }),
  )
  return (
    <section className={isPlaceholderData ? 'expr-result old' : 'expr-result'} aria-label="Result">
      <h2>Result</h2>
      {isBlank && <NoExpression />}
      {!isBlank && given === null && <p className="note">The variables are not valid JSON.</p>}
      {!isBlank && given !== null && data === undefined && error === null && <Loading what="the value" rows={4} />}
      {!isBlank && given !== null && data === undefined && error !== null && (
        <>
          <p className="expr-bad" role="alert">
            ▲ {error.message}
          </p>
          <Button size="xs" variant="default" onClick={() => void refetch()}>
            Try again
          </Button>
        </>
      )}
      {!isBlank && given !== null && data !== undefined && <EvaluationView {...data} onPlace={onPlace} />}
    </section>
  )
}

interface EvaluationViewProps {
  evaluation: Evaluation
  expression: string
  onPlace: (offset: number) => void
}

function EvaluationView({
  evaluation: { problems, warnings, tree, type, failure, isCut },
  expression,
  onPlace,
}: EvaluationViewProps) {
  return (
    <>
      {problems.length > 0 && <p role="status">A config with this expression would be rejected.</p>}
      <Problems of="Problems" problems={problems} expression={expression} onPlace={onPlace} />
      <Problems of="Warnings" problems={warnings} expression={expression} onPlace={onPlace} />
      {failure !== null && <p className="expr-bad">▲ The evaluation failed: {failure}</p>}
      {type !== null && <p className="note">The value has the type {type}. The values of its parts:</p>}
      {tree !== null && <PartTree part={tree} />}
      {isCut && <p className="note">The evaluation took too long: some parts are missing.</p>}
    </>
  )
}

interface ProblemsProps extends Pick<EvaluationViewProps, 'expression' | 'onPlace'> {
  of: 'Problems' | 'Warnings'
  problems: readonly ExpressionProblem[]
}

function Problems({ of, problems, expression, onPlace }: ProblemsProps) {
  if (problems.length === 0) return null
  return (
    <ul className="expr-problems" aria-label={of}>
      {problems.map((problem, index) => {
        const { message, line, column, offset, suggestion } = problem
        const { before, mark, after } = markedLine(expression, problem)
        return (
          <li key={index}>
            <p className={of === 'Problems' ? 'expr-bad' : 'expr-warning'}>
              <button type="button" className="mono" title="Go to this location" onClick={() => onPlace(offset)}>
                {line}:{column}
              </button>{' '}
              {of === 'Problems' ? '✕' : '▲'} {message}
              {suggestion !== null && `; did you mean ${suggestion}?`}
            </p>
            <pre className="mono">
              {before}
              <mark>{mark}</mark>
              {after}
            </pre>
          </li>
        )
      })}
    </ul>
  )
}

const EXAMPLES = [
  'request.method == "GET" && response.code >= 400',
  'request.headers["user-agent"].startsWith("curl/")',
]

function NoExpression() {
  return (
    <>
      <p className="note">Write an expression to see the value of each of its parts. For example:</p>
      <ul className="expr-examples">
        {EXAMPLES.map((expression) => (
          <li key={expression}>
            <Link to="/expressions" search={(before) => ({ ...before, expression })} className="mono">
              {expression}
            </Link>
          </li>
        ))}
      </ul>
    </>
  )
}
