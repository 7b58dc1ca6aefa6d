/**
 * Whether a dependency that npm does not install (an S3 store, Redis, a mount) is available. If it is missing, the summary
 * of the run names it and how to install it. The test fails instead when ATRIUM_TEST_REQUIRE contains its name.
 */
export const available = async (
  name: string,
  check: () => Promise<boolean> | boolean,
  installHint: string,
): Promise<boolean> => {
  if (await check()) return true
  const line = `left out: ${name} (to run it: ${installHint})`
  const required = (process.env['ATRIUM_TEST_REQUIRE'] ?? '').split(',').map((one) => one.trim())
  if (required.includes(name)) throw new Error(`ATRIUM_TEST_REQUIRE names ${name}, but it would be ${line}`)
  console.log(line)
  return false
}
