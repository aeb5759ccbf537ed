/** Goes on at once with a value that is there, and later with one that is still to come. */
export function nowOrLater<Value, Result>(
  value: Value | Promise<Value>,
  goOn: (settled: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then((settled) => goOn(settled)) : goOn(value)
}
