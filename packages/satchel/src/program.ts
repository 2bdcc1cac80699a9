import { Command } from "commander";
import { version } from "./version.js";

/** The commands and their options. Each command's code is loaded when it runs, so that `mcp` starts fast. */
export function buildProgram(): Command {
  const program = new Command("satchel")
    .description("The context your agents carry, under your control.")
    .version(version)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
    .configureOutput({ outputError: (text, write) => write(asOneLine(text)) })
    .configureHelp({ showGlobalOptions: true });
  addServing(program);
  addContent(program);
  addReviewing(program);
  addPeople(program);
  addOwning(program);
  return program;
}

interface CommandText {
  /** Name and arguments. */
  use: string;
  about: string;
  examples: string[];
}

/** Commander's message as every other error is said; a "Did you mean" comes on a line of its own there. */
function asOneLine(text: string): string {
  return `satchel: ${text
    .replace(/^error: /, "")
    .trim()
    .replace(/\s*\n\s*/g, " ")} (satchel --help shows all commands)\n`;
}

function command(parent: Command, { use, about, examples }: CommandText): Command {
  return parent
    .command(use)
    .description(about)
    .option("--data <dir>", "data directory (else SATCHEL_HOME, else the platform's data folder)")
    .option("--context <handle>", "which context (default: the only one)")
    .addHelpText("after", `\nExamples:\n${examples.map((example) => `  ${example}`).join("\n")}`);
}

function printing(parent: Command, text: CommandText): Command {
  return command(parent, text).option("--json", "print JSON");
}

const clock = ["--now <utc>", "a fixed clock, for tests and measurements"] as const;

/** Of an option that may be repeated. */
const collect = (value: string, values: string[]) => [...values, value];

function addServing(program: Command): void {
  const schemas = ["--schemas <form>", "published tool schemas: plain or exact", "plain"] as const;
  printing(program, {
    use: "init",
    about: "Make a context.",
    examples: ["satchel init", "satchel init --context studio --kind team"],
  })
    .option("--kind <kind>", "personal, work or team", "personal")
    .action(async (options) => (await import("./commands/init.js")).init(options));
  command(program, {
    use: "mcp",
    about: "Serve one assistant over standard input and output.",
    examples: ["satchel mcp", 'satchel mcp --scopes "profile.core:read memory:read" --client client:notes'],
  })
    .option("--scopes <list>", "what the assistant may do (default: all)")
    .option("--user <principal>", "for whom", "user:owner")
    .option("--client <principal>", "the assistant's name", "client:stdio")
    .option(...schemas)
    .option(...clock)
    .action(async (options) => (await import("./commands/mcp.js")).mcp(options));
  command(program, {
    use: "serve",
    about: "Serve assistants over HTTP.",
    examples: ["satchel serve", "satchel serve --port 4800"],
  })
    .option("--port <number>", "port", "4747")
    .option("--host <address>", "loopback address", "127.0.0.1")
    .option(...schemas)
    .option(...clock)
    .action(async (options) => (await import("./commands/serve.js")).serve(options));
  printing(program, {
    use: "connect <client>",
    about: "Connect claude-code, claude-desktop, cursor, vscode, codex or gemini.",
    examples: ["satchel connect cursor", "satchel connect claude-desktop --write"],
  })
    .option("--write", "write the client's configuration instead of printing it")
    .action(async (client, options) => (await import("./commands/connect.js")).connect(client, options));
}

function addContent(program: Command): void {
  addPage(program);
  printing(program, {
    use: "search <query...>",
    about: "Search memory.",
    examples: ["satchel search travel plans", "satchel search --limit 3 --json invoice"],
  })
    .option("--limit <number>", "at most this many", "10")
    .option("--stale", "with stale pages")
    .option("--archived", "with archived pages")
    .option(...clock)
    .action(async (query, options) => (await import("./commands/search.js")).search(query, options));
  printing(program, {
    use: "brief [focus...]",
    about: "Show what an assistant is told at the start.",
    examples: ["satchel brief", "satchel brief holiday in May"],
  })
    .option("--budget <tokens>", "at most this many tokens", "2000")
    .option(...clock)
    .action(async (focus, options) => (await import("./commands/brief.js")).brief(focus, options));
  const profile = program.command("profile").description("Show and change the profile.");
  printing(profile, {
    use: "get [namespace]",
    about: "Show the profile, or an extension.",
    examples: ["satchel profile get", "satchel profile get pcp.health"],
  }).action(async (namespace, options) => (await import("./commands/profile.js")).profileGet(namespace, options));
  printing(profile, {
    use: "set <patch...>",
    about: "Change members: key=value pairs, a JSON merge patch, or - to read one.",
    examples: [
      'satchel profile set name="Your name" timezone=Europe/Oslo work.role=Engineer',
      `satchel profile set '{"pronouns": null}'`,
      "satchel profile set --namespace pcp.health - < health.json",
    ],
  })
    .option("--namespace <name>", "core, team or an extension")
    .action(async (patch, options) => (await import("./commands/profile.js")).profileSet(patch, options));
  addImport(program);
}

function addImport(program: Command): void {
  printing(program, {
    use: "import <path>",
    about: "Import an archive, a folder of Markdown, or what another tool exported (.zip too): all or nothing.",
    examples: [
      "satchel import ~/notes --dry-run",
      "satchel import satchel.tar.gz.age --identity ~/.ssh/id_ed25519",
      "satchel import chatgpt-export.zip --review",
    ],
  })
    .option("--dry-run", "only say what would happen")
    .option("--skip-refused", "import the rest when entries are refused")
    .option("--review", "everything waits for your review")
    .option("--partition <name>", "where pages go that name no partition")
    .option("--format <name>", "what it is, where it is not found out")
    .option("--identity <file>", "a private key that opens the archive; may be repeated", collect, [])
    .option("--passphrase", "ask for the archive's passphrase")
    .action(async (path, options) => (await import("./commands/import.js")).importInto(path, options));
  addSync(program);
}

function addSync(program: Command): void {
  printing(program, {
    use: "sync <folder>",
    about: "Keep a folder of Markdown equal to the context, in both directions.",
    examples: ["satchel sync ~/memory", "satchel sync ~/memory --watch", "satchel sync ~/work --partition work"],
  })
    .option("--watch", "go on until stopped")
    .option("--delete", "remove on one side what was removed on the other")
    .option("--keep", "bring back on one side what was removed there")
    .option("--sensitive", "write sensitive pages into the folder too")
    .option("--prefix <prefix>", "only pages whose path begins like this")
    .option("--partition <name>", "only pages of this partition; new files go there")
    .option("--dry-run", "only say what would happen")
    .action(async (folder, options) => (await import("./commands/sync.js")).sync(folder, options));
}

function addPage(program: Command): void {
  const page = program.command("page").description("Read and change memory pages.");
  printing(page, {
    use: "put <path>",
    about: "Write a page from standard input or a file.",
    examples: ["satchel page put notes/today < today.md", "satchel page put notes/today --file today.md"],
  })
    .option("--file <file>", "read this file")
    .option("--expected-updated <utc>", "only if the page was last updated then")
    .action(async (path, options) => (await import("./commands/page.js")).pagePut(path, options));
  printing(page, {
    use: "cat <path>",
    about: "Print a page's own text.",
    examples: ["satchel page cat notes/today", "satchel page cat notes/today --as-of 2026-01-31T12:00:00Z"],
  })
    .option("--as-of <utc>", "as it was then")
    .action(async (path, options) => (await import("./commands/page.js")).pageCat(path, options));
  printing(page, {
    use: "history <path>",
    about: "List a page's versions, newest first.",
    examples: ["satchel page history notes/today"],
  }).action(async (path, options) => (await import("./commands/page.js")).pageHistory(path, options));
  command(page, {
    use: "diff <path> [versions...]",
    about: "Show what changed between two versions (default: the last two).",
    examples: ["satchel page diff notes/today", "satchel page diff notes/today ver_… ver_…"],
  }).action(async (path, versions, options) => (await import("./commands/page.js")).pageDiff(path, versions, options));
  printing(page, {
    use: "restore <path> <version>",
    about: "Make an earlier version the current one.",
    examples: ["satchel page restore notes/today ver_…"],
  }).action(async (path, version, options) => (await import("./commands/page.js")).pageRestore(path, version, options));
  printing(page, {
    use: "ls [prefix]",
    about: "List pages.",
    examples: ["satchel page ls", "satchel page ls projects/"],
  })
    .option("--archived", "with archived pages")
    .action(async (prefix, options) => (await import("./commands/page.js")).pageList(prefix, options));
  printing(page, {
    use: "rm <path...>",
    about: "Remove pages; their history is kept.",
    examples: ["satchel page rm notes/old"],
  }).action(async (paths, options) => (await import("./commands/page.js")).pageRemove(paths, options));
}

function addReviewing(program: Command): void {
  const review = program.command("review").description("Decide what assistants propose.");
  printing(review, { use: "list", about: "List proposals, newest first.", examples: ["satchel review list"] })
    .option("--rejected", "list rejected ones")
    .option("--partition <name>", "only of this partition")
    .action(async (options) => (await import("./commands/review.js")).reviewList(options));
  printing(review, {
    use: "show <revision>",
    about: "Show what a proposal would change.",
    examples: ["satchel review show rev_…"],
  }).action(async (revision, options) => (await import("./commands/review.js")).reviewShow(revision, options));
  printing(review, {
    use: "approve <revision...>",
    about: "Approve proposals; what changed meanwhile is merged where it can be.",
    examples: ["satchel review approve rev_…", "satchel review approve rev_… --archive-superseded"],
  })
    .option("--note <text>", "why")
    .option("--archive-superseded", "archive the pages it supersedes")
    .action(async (revisions, { archiveSuperseded, ...options }) =>
      (await import("./commands/review.js")).reviewResolve(
        revisions,
        archiveSuperseded ? "satchel:approve_archive" : "approve",
        options,
      ),
    );
  printing(review, {
    use: "reject <revision...>",
    about: "Reject proposals; they are kept with the note.",
    examples: ['satchel review reject rev_… --note "out of date"'],
  })
    .option("--note <text>", "why")
    .option("--defer", "decide later: keep it proposed, with the note")
    .action(async (revisions, { defer, ...options }) =>
      (await import("./commands/review.js")).reviewResolve(revisions, defer ? "satchel:defer" : "reject", options),
    );
}

function addPeople(program: Command): void {
  const partition = program.command("partition").description("Divide memory and say who may do what.");
  printing(partition, {
    use: "set <name>",
    about: "Make a partition, or change what is said of it.",
    examples: [
      'satchel partition set work --label "At work" --grant user:bob=read,propose --review clients',
      "satchel partition set work --revoke user:bob --four-eyes on",
    ],
  })
    .option("--label <text>", "what people call it")
    .option("--grant <principal=rights>", "rights: read, propose, write, review; may be repeated", collect, [])
    .option("--revoke <principal>", "take an entry away; may be repeated", collect, [])
    .option("--review <rule>", "whose writes become proposals: nobody, clients, everyone")
    .option("--four-eyes <switch>", "on: another user than the author decides")
    .action(async (name, options) => (await import("./commands/people.js")).partitionSet(name, options));
  printing(partition, { use: "list", about: "List partitions.", examples: ["satchel partition list"] }).action(
    async (options) => (await import("./commands/people.js")).partitionList(options),
  );
  const user = program.command("user").description("People beside the owner.");
  printing(user, {
    use: "add <name>",
    about: "Add a user.",
    examples: ["satchel user add bob", "satchel user add bob --owner"],
  })
    .option("--owner", "with every right")
    .action(async (name, options) => (await import("./commands/people.js")).userAdd(name, options));
  printing(user, { use: "list", about: "List users.", examples: ["satchel user list"] }).action(async (options) =>
    (await import("./commands/people.js")).userList(options),
  );
  printing(user, {
    use: "remove <name>",
    about: "Remove a user from users, groups and access lists.",
    examples: ["satchel user remove bob"],
  }).action(async (name, options) => (await import("./commands/people.js")).userRemove(name, options));
  const group = program.command("group").description("Groups of users, for access lists.");
  printing(group, {
    use: "set <name>",
    about: "Give a group exactly these members.",
    examples: ["satchel group set family --member user:bob --member user:ann"],
  })
    .option("--member <users...>", "user:NAME; one or more", [])
    .action(async (name, options) => (await import("./commands/people.js")).groupSet(name, options));
  printing(group, { use: "list", about: "List groups.", examples: ["satchel group list"] }).action(async (options) =>
    (await import("./commands/people.js")).groupList(options),
  );
  const extension = program.command("extension").description("Profile extensions.");
  printing(extension, {
    use: "add <namespace>",
    about: "Register the JSON Schema an extension's documents have to pass.",
    examples: ["satchel extension add org.example.diet --schema diet.schema.json"],
  })
    .requiredOption("--schema <file>", "a JSON Schema 2020-12")
    .action(async (namespace, options) => (await import("./commands/extension.js")).extensionAdd(namespace, options));
}

function addOwning(program: Command): void {
  addExport(program);
  addErasing(program);
  addJournal(program);
  addArchive(program);
  const token = program.command("token").description("Make and revoke tokens for assistants that connect over HTTP.");
  printing(token, {
    use: "create",
    about: "Make a token and print it.",
    examples: [
      'satchel token create --scopes "profile.core:read memory:read memory:write" --client client:notes --ttl 30d',
    ],
  })
    .requiredOption("--scopes <list>", "what the token may do")
    .option("--client <principal>", "the assistant's name", "client:token")
    .option("--user <principal>", "user:NAME, or service:NAME for no person", "user:owner")
    .option("--ttl <time>", "how long, such as 30d (default: without end)")
    .action(async (options) => (await import("./commands/token.js")).tokenCreate(options));
  printing(token, { use: "list", about: "List tokens.", examples: ["satchel token list"] }).action(async (options) =>
    (await import("./commands/token.js")).tokenList(options),
  );
  printing(token, {
    use: "revoke <id>",
    about: "Revoke a token at once.",
    examples: ["satchel token revoke tok_…"],
  }).action(async (id, options) => (await import("./commands/token.js")).tokenRevoke(id, options));
  printing(program, {
    use: "config [name] [value]",
    about: "Show and change settings.",
    examples: ["satchel config", "satchel config secrets warn"],
  }).action(async (name, value, options) => (await import("./commands/config.js")).config(name, value, options));
  printing(program, { use: "doctor", about: "Check that everything is sound.", examples: ["satchel doctor"] }).action(
    async (options) => (await import("./commands/doctor.js")).doctor(options),
  );
}

function addExport(program: Command): void {
  printing(program, {
    use: "export",
    about: "Write everything into one archive that any host can take in.",
    examples: [
      "satchel export --out satchel.tar.gz.age --passphrase",
      'satchel export --out satchel.tar.gz.age --encrypt-to "age1…"',
      "satchel export --out satchel.tar.gz.age --recipients-file ~/.ssh/id_ed25519.pub",
    ],
  })
    .requiredOption("--out <file>", "the archive; it must not be there yet")
    .option("--encrypt-to <recipient>", "an age or SSH public key; may be repeated", collect, [])
    .option("--recipients-file <file>", "public keys, one a line; may be repeated", collect, [])
    .option("--passphrase", "encrypt under a passphrase that is asked for")
    .option("--no-audit", "without the audit")
    .action(async (options) => (await import("./commands/export.js")).exportContext(options));
}

function addErasing(program: Command): void {
  printing(program, {
    use: "erase",
    about: "Delete for good, from every version, index and file. Shows what would go unless --yes is given.",
    examples: ['satchel erase --subject "the name"', "satchel erase --path people/old-friend --path notes/them --yes"],
  })
    .option("--subject <phrase>", "everything that holds this phrase")
    .option("--path <path>", "this page; may be repeated", collect, [])
    .option("--id <id>", "this page, version or proposal; may be repeated", collect, [])
    .option("--no-derived", "keep pages derived from what goes")
    .option("--yes", "do it")
    .option(...clock)
    .action(async (options) => (await import("./commands/erase.js")).erase(options));
}

function addJournal(program: Command): void {
  printing(program, {
    use: "audit",
    about: "Show who did what, newest first.",
    examples: ["satchel audit", "satchel audit --since 2026-01-31T00:00:00Z --category memory.sensitive"],
  })
    .option("--since <utc>", "from then on")
    .option("--until <utc>", "before then")
    .option("--principal <principal>", "only what this user did")
    .option("--category <name>", "only this category, such as memory, review or erase")
    .option("--limit <number>", "at most this many", "50")
    .action(async (options) => (await import("./commands/audit.js")).audit(options));
  printing(program, {
    use: "receipts [id]",
    about: "Show the receipts of calls, newest first, or the envelopes of a receipt or call.",
    examples: ["satchel receipts", "satchel receipts semantic_receipt:…"],
  })
    .option("--limit <number>", "at most this many", "50")
    .action(async (id, options) => (await import("./commands/audit.js")).receipts(id, options));
  const journal = program.command("journal").description("The log that proves itself.");
  printing(journal, { use: "list", about: "List entries, newest first.", examples: ["satchel journal list --limit 5"] })
    .option("--limit <number>", "at most this many", "50")
    .option("--before <entry>", "only entries before this number")
    .action(async (options) => (await import("./commands/journal.js")).journalList(options));
  printing(journal, {
    use: "show <entry>",
    about: "Show an entry by its number or an id in it.",
    examples: ["satchel journal show 17", "satchel journal show aud_…"],
  }).action(async (entry, options) => (await import("./commands/journal.js")).journalShow(entry, options));
  printing(journal, {
    use: "verify",
    about: "Check the whole log. Exit code 0 valid, 1 invalid, 2 can't check, 3 valid with unsettled calls.",
    examples: ["satchel journal verify", "satchel journal verify --checkpoint kept-elsewhere.txt --key satchel/…"],
  })
    .option("--checkpoint <file>", "signed checkpoints that were kept elsewhere; may be repeated", collect, [])
    .option("--key <vkey>", "trust this key instead of those in journal.pub; may be repeated", collect, [])
    .action(async (options) => (await import("./commands/journal.js")).journalVerify(options));
  printing(journal, {
    use: "prove <entry>",
    about: "Print a proof that the log holds an entry.",
    examples: ["satchel journal prove aud_… --out proof.json"],
  })
    .option("--out <file>", "write it to this file")
    .action(async (entry, options) => (await import("./commands/journal.js")).journalProve(entry, options));
  journal
    .command("verify-proof <file>")
    .description("Check a proof file, offline. Exit code 0 valid, 1 invalid, 2 can't check.")
    .option("--key <vkey>", "the log's key; may be repeated", collect, [])
    .option("--json", "print JSON")
    .addHelpText("after", "\nExamples:\n  satchel journal verify-proof proof.json --key satchel/…")
    .action(async (file, options) => (await import("./commands/journal.js")).journalVerifyProof(file, options));
  printing(journal, {
    use: "checkpoint",
    about: "Sign what the log holds now, and print it: keep it where nobody can change it.",
    examples: ["satchel journal checkpoint > checkpoint.txt"],
  }).action(async (options) => (await import("./commands/journal.js")).journalCheckpoint(options));
  printing(journal, {
    use: "unsettled",
    about: "List calls whose outcome is not known yet.",
    examples: ["satchel journal unsettled"],
  }).action(async (options) => (await import("./commands/journal.js")).journalUnsettled(options));
  printing(journal, {
    use: "rotate-key",
    about: "Sign with a new key from now on; the old one vouches for it.",
    examples: ["satchel journal rotate-key"],
  }).action(async (options) => (await import("./commands/journal.js")).journalRotateKey(options));
}

function addArchive(program: Command): void {
  program
    .command("verify <file>")
    .description("Check an exported archive, offline. Exit code 0 valid, 1 not valid, 2 can't check.")
    .option("--identity <file>", "an age identity file or private SSH key that opens it; may be repeated", collect, [])
    .option("--passphrase", "ask for the passphrase that opens it (in a pipe: the first line of standard input)")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  satchel verify me.tar.gz\n  satchel verify me.tar.gz.age --identity ~/.ssh/id_ed25519",
    )
    .action(async (file, options) => (await import("./commands/verify.js")).verify(file, options));
}
