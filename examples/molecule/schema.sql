-- Tables of the platform. Times are RFC 3339 in UTC with microseconds, so that they can be
-- sorted as text.

CREATE TABLE workspaces (
    id           TEXT PRIMARY KEY,
    organisation TEXT NOT NULL,
    parent_id    TEXT REFERENCES workspaces (id),
    name         TEXT NOT NULL,
    role         TEXT NOT NULL,
    tier         INTEGER NOT NULL,
    can_broadcast INTEGER NOT NULL DEFAULT 0,
    answers      INTEGER NOT NULL DEFAULT 1,   -- 0: messages are only stored
    skills       TEXT NOT NULL DEFAULT '[]',   -- JSON: names of skills
    delay        REAL NOT NULL DEFAULT 0,      -- seconds of work before each answer
    token        TEXT NOT NULL,                -- authenticates the workspace
    url          TEXT,                         -- null if the workspace is down
    card         TEXT                          -- JSON: the agent's own card
);

CREATE TABLE activities (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT NOT NULL UNIQUE,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    kind         TEXT NOT NULL,                -- task, reply, broadcast, user, decision
    direction    TEXT NOT NULL,                -- in, out
    peer_id      TEXT,                         -- null: the user
    text         TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    pending      INTEGER NOT NULL              -- 1: in the inbox
);
CREATE INDEX activities_inbox ON activities (workspace_id, pending, seq);
CREATE INDEX activities_peer ON activities (workspace_id, peer_id, created_at);

CREATE TABLE a2a_tasks (
    id           TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    caller_id    TEXT NOT NULL REFERENCES workspaces (id),
    context_id   TEXT NOT NULL,
    state        TEXT NOT NULL,                -- working, completed, failed
    request      TEXT NOT NULL,
    answer       TEXT,
    updated_at   TEXT NOT NULL
);

CREATE TABLE chat (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT NOT NULL UNIQUE,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    author       TEXT NOT NULL,                -- agent, user
    text         TEXT NOT NULL,
    attachments  TEXT NOT NULL,                -- JSON
    created_at   TEXT NOT NULL
);

CREATE TABLE memories (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT NOT NULL UNIQUE,
    organisation TEXT NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    scope        TEXT NOT NULL CHECK (scope IN ('LOCAL', 'TEAM', 'GLOBAL')),
    team         TEXT NOT NULL,                -- id of the team's lead
    content      TEXT NOT NULL,
    created_at   TEXT NOT NULL
);
CREATE VIRTUAL TABLE memories_index USING fts5 (
    content, content = 'memories', content_rowid = 'seq',
    tokenize = 'porter unicode61'
);
CREATE TRIGGER memories_insert AFTER INSERT ON memories BEGIN
    INSERT INTO memories_index (rowid, content) VALUES (new.seq, new.content);
END;

CREATE TABLE goals (
    workspace_id    TEXT PRIMARY KEY REFERENCES workspaces (id),
    goal            TEXT NOT NULL,
    cadence_seconds INTEGER,
    set_at          TEXT NOT NULL
);

CREATE TABLE tasks (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT NOT NULL UNIQUE,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    title        TEXT NOT NULL,
    status       TEXT NOT NULL,
    next_action  TEXT,
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL
);

CREATE TABLE requests (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT NOT NULL UNIQUE,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    kind         TEXT NOT NULL CHECK (kind IN ('task', 'approval')),
    title        TEXT NOT NULL,
    detail       TEXT,
    priority     INTEGER,
    status       TEXT NOT NULL,                -- pending, approved, rejected, done
    created_at   TEXT NOT NULL,
    decided_at   TEXT
);

CREATE TABLE plugins (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    name         TEXT NOT NULL,
    version      TEXT NOT NULL,
    digest       TEXT NOT NULL,
    skills       TEXT NOT NULL,                -- JSON: skills for the agent card
    installed_at TEXT NOT NULL,
    PRIMARY KEY (workspace_id, name)
);
