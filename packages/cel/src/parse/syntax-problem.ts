/** Thrown inside the parser only: `parse` turns it into a value. */
export class SyntaxProblem extends Error {
  readonly offset: number

  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}
