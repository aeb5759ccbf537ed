import { labelText } from '../../../telemetry/metrics/metrics.ts'
import { Double, type Result, toText, Uint } from '@portico/cel'
import { compileExpression } from '../../../pipeline/expression/expression.ts'
import type { AddedLabels } from '../../../telemetry/metrics/request-metrics.ts'
import type { MetricsConfig } from './schema.ts'

/** The labels that a config adds to the metrics of requests; null where it adds none. */
export function metricLabels(config: MetricsConfig | undefined): AddedLabels | null {
  if (config?.attributes === undefined) return null
  const { add } = config.attributes
  const programs = add.map(({ expression }) => compileExpression(expression, 'log'))
  return {
    names: add.map(({ name }) => name),
    valuesOf: (scope) => programs.map(({ evaluate }) => labelValue(evaluate(scope))),
  }
}

/** Texts, numbers and truth values; everything else, and an empty text, which Prometheus takes for no label, is unknown. */
export function labelValue(result: Result): string {
  if (typeof result === 'string') return labelText(result)
  return isScalar(result) ? toText(result) : UNKNOWN
}

function isScalar(result: Result): boolean {
  if (result instanceof Double || result instanceof Uint) return true
  return typeof result === 'number' || typeof result === 'bigint' || typeof result === 'boolean'
}

const UNKNOWN = 'unknown'
