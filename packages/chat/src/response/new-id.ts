/** Creates response ids, for formats whose clients expect one. An id has 96 random bits, so that ids do not repeat. */
export function createIds(random: () => number): (prefix: string) => string {
  return (prefix) => {
    let id = prefix
    for (let i = 0; i < 3; i++)
      id += Math.floor(random() * 2 ** 32)
        .toString(16)
        .padStart(8, '0')
    return id
  }
}
