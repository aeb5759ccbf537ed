/** Whether two values of plain data, including Maps and Sets, are deeply equal. */
export function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false
    return one.every((value, index) => isSame(value, other[index]))
  }
  if (one instanceof Map || one instanceof Set) {
    if (one.constructor !== other.constructor) return false
    return isSame([...one], [...(other as Iterable<unknown>)])
  }
  if (Array.isArray(other) || other instanceof Map || other instanceof Set) return false
  const keys = Object.keys(one)
  if (keys.length !== Object.keys(other).length) return false
  return keys.every(
    (key) =>
      Object.hasOwn(other, key) &&
      isSame((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key]),
  )
}
