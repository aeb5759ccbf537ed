/** Continues synchronously with a value, or asynchronously with a promise. */
export function nowOrLater<Value, Result>(
  value: Value | Promise<Value>,
  goOn: (settled: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then((settled) => goOn(settled)) : goOn(value)
}
